// What dereferencing a typed cursor gives on the host model: an element that checks its coordinates and tells the shadow of
// each access, with the tensor's name, the coordinate and the line.
#pragma once

#include <stdio.h>
#include <string.h>

#include "tilewright/host/shadow.h"

namespace tw {

template <class... Ds> struct Coords;

namespace host {

// The name of a type, without its namespaces.
template <class D> struct TypeName {
  char text[48];
  TypeName() {
    const char* const all = __PRETTY_FUNCTION__;
    const char* from = strrchr(all, '=');
    const char* to = all + strlen(all) - 1;
    for (const char* c = from; c < to; ++c) {
      if (*c == ':' || *c == ' ') from = c;
    }
    snprintf(text, sizeof text, "%.*s", (int)(to - from - 1), from + 1);
  }
};

// The name of a tensor, from the tag that a declaration gives it: `struct Tile_` for `Tile`.
template <class N> struct TensorName : TypeName<N> {
  TensorName() { this->text[strlen(this->text) - 1] = 0; }
};
template <> struct TensorName<void> {
  const char* text = "a tensor without a name";
};

// The coordinates along the dimensions of `Ds`, as they are written.
template <class At, class... Ds> void write_coords(const At& at, const Coords<Ds...>&, char* text, unsigned long bytes) {
  text[0] = 0;
  const auto write = [&](const char* name, int value) {
    const unsigned long used = strlen(text);
    snprintf(text + used, bytes - used, "%s%s(%d)", used == 0 ? "" : " + ", name, value);
  };
  (write(TypeName<Ds>().text, at.template get<Ds>()), ...);
}

// The first coordinate that lies outside, as text; empty if there is none.
template <class L, class At, class... Ds> void write_outside(const At& at, const Coords<Ds...>&, char* text, unsigned long bytes) {
  text[0] = 0;
  const auto write = [&](const char* name, int value, int extent) {
    if (text[0] == 0 && (value < 0 || value >= extent)) snprintf(text, bytes, "%s(%d) lies outside 0..%d", name, value, extent);
  };
  (write(TypeName<Ds>().text, at.template get<Ds>(), L::template extent<Ds>()), ...);
}

template <class C> struct Element {
  using T = typename C::Element;
  C cursor;

  template <class U> struct Mutable { using Type = U; };
  template <class U> struct Mutable<const U> { using Type = U; };
  using Value = typename Mutable<T>::Type;

  operator Value() const { return *read(); }
  Value load() const { return *read(); }
  const Element& operator=(const Value& value) const { return *written() = value, *this; }
  const Element& operator=(const Element& other) const { return *this = other.load(); }
  template <class U> const Element& operator+=(const U& value) const { return *this = load() + value; }
  template <class U> const Element& operator-=(const U& value) const { return *this = load() - value; }
  template <class U> const Element& operator*=(const U& value) const { return *this = load() * value; }
  T* operator&() const { return cursor.address(); }
  T* operator->() const { return read(); }

 private:
  static void describe(const void* at, char* text, unsigned long bytes) {
    write_coords(static_cast<const C*>(at)->coords(), typename C::Layout::Set{}, text, bytes);
  }
  Site site() const {
    static const TensorName<typename C::Named> name;
    const Place place = cursor.place.file == nullptr ? Place{"a subscript", 0} : cursor.place;
    return {place, name.text, describe, &cursor};
  }
  void check() const {
    if (cursor.in_range()) return;
    char outside[96];
    static thread_local char text[160];
    write_outside<typename C::Layout>(cursor.coords(), typename C::Layout::Set{}, outside, sizeof outside);
    snprintf(text, sizeof text, "%s: %s", site().tensor, outside);
    misuse(text, site().place);
  }
  T* read() const {
    check();
    shared_read(cursor.data, cursor.address(), sizeof(T), site());
    return cursor.address();
  }
  T* written() const {
    check();
    shared_write(cursor.data, cursor.address(), sizeof(T), site());
    return cursor.address();
  }
};

}  // namespace host
}  // namespace tw
