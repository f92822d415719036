//! Headers as NumPy writes them, and everything else.

use proptest::prelude::*;

use super::*;

fn header(element: Element, order: Order, shape: &[usize]) -> Header {
    Header { element, big_endian: false, order, shape: shape.into(), unused_bits: 0 }
}

fn parse(file: &[u8]) -> Result<Header, String> {
    let range = text_range(&file[..file.len().min(FIXED)])?;
    Header::parse(file.get(range).ok_or("cut")?)
}

/// A file's beginning around a text.
fn around(version: u8, text: &str) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    file.extend([version, 0]);
    match version {
        1 => file.extend((text.len() as u16).to_le_bytes()),
        _ => file.extend((text.len() as u32).to_le_bytes()),
    }
    file.extend(text.bytes());
    file
}

const TEXT: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }        \n";

#[test]
fn what_is_printed_is_read() {
    for element in Element::ALL {
        for order in [Order::C, Order::Fortran] {
            for shape in [&[][..], &[0], &[7], &[3, 4], &[1, 2, 3], &[usize::MAX; 64]] {
                let written = header(element, order, shape);
                let file = written.print();
                assert_eq!(file.len() % ALIGNMENT, 0);
                assert_eq!(text_range(&file[..FIXED]).unwrap().end, file.len());
                let element = if element == Element::Bf16 { Element::U16 } else { element };
                assert_eq!(parse(&file).unwrap(), Header { element, ..written });
            }
        }
    }
}

#[test]
fn bits_that_are_not_used_stand_in_the_space_behind_the_text() {
    let plain = header(Element::U8, Order::C, &[3, 4]);
    for unused_bits in [0, 1, 7, 127, 255] {
        let marked = Header { unused_bits, ..plain.clone() };
        let (file, other) = (marked.print(), plain.print());
        assert_eq!((parse(&file).unwrap().unused_bits, file.len()), (unused_bits, other.len()));
        // Nothing but space differs.
        assert!(file.iter().zip(&other).all(|(one, other)| one == other || (*one, *other) == (b'\t', b' ')));
    }
    for text in [TEXT.trim(), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n"] {
        assert_eq!(parse(&around(1, text)).unwrap().unused_bits, 0, "{text}");
    }
}

#[test]
fn all_versions() {
    for version in [1, 2, 3] {
        assert_eq!(parse(&around(version, TEXT)).unwrap(), header(Element::F32, Order::C, &[3, 4]));
    }
    for (major, minor) in [(0, 0), (1, 1), (4, 0), (2, 1)] {
        let mut file = around(2, TEXT);
        (file[6], file[7]) = (major, minor);
        assert!(parse(&file).unwrap_err().contains(&format!("version {major}.{minor}")));
    }
}

#[test]
fn other_ways_to_write_it() {
    for text in [
        "{\"shape\":(3,4,),\"descr\":\"<f4\",\"fortran_order\":False}",
        " { 'fortran_order' : False , 'shape' : ( 3L , 4L ) , 'descr' : '<f4' } \n",
    ] {
        assert_eq!(parse(&around(1, text)).unwrap(), header(Element::F32, Order::C, &[3, 4]), "{text}");
    }
    let big = parse(&around(1, "{'descr': '>c16', 'fortran_order': True, 'shape': ()}")).unwrap();
    assert_eq!(big, Header { big_endian: true, ..header(Element::C128, Order::Fortran, &[]) });
    assert_eq!(
        parse(&around(1, "{'descr': '<i1', 'fortran_order': True, 'shape': (5,)}")).unwrap().element,
        Element::I8
    );
}

#[test]
fn what_numpy_would_not_write() {
    let with = |descr: &str, order: &str, shape: &str| {
        format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n")
    };
    let deep = format!("{}{}", "(".repeat(30_000), ")".repeat(30_000));
    let many = format!("({})", "1,".repeat(65));
    for (text, expected) in [
        (String::new(), "\"\" where '{'"),
        ("{}".into(), "lacks 'descr'"),
        ("{'descr': '<f4', 'shape': (1,)}".into(), "lacks 'fortran_order'"),
        ("{'descr': '<f4', 'descr': '<f4'}".into(), "'descr' twice"),
        ("{'size': 3}".into(), "unknown key 'size'"),
        ("{'descr': '<f4".into(), "without an end"),
        (with("'<f4'", "False", "(3,)") + "x", "where its end should be"),
        (with("'<f4'", "0", "(3,)"), "True or False"),
        (with("'<f4'", "Falsehood", "(3,)"), "True or False"),
        (with("'<f4'", "False", "(3)"), "a number, not a list"),
        (with("'<f4'", "False", "[3, 4]"), "where '(' should be"),
        (with("'<f4'", "False", "(-3,)"), "where a number should be"),
        (with("'<f4'", "False", "(3.5,)"), "where ')' should be"),
        (with("'<f4'", "False", "(1e3,)"), "where a number should be"),
        (with("'<f4'", "False", "(99999999999999999999,)"), "no address reaches"),
        (with("'<f4'", "False", &deep), "where a number should be"),
        (with("'<f4'", "False", &many), "more than 64 dimensions"),
        (with(&deep, "False", "(3,)"), "where a string should be"),
        (with("[('a', '<f4')]", "False", "(3,)"), "structures"),
        (with("'<f3'", "False", "(3,)"), "'<f3' is not known"),
        (with("'|O'", "False", "(3,)"), "'|O' is not known"),
        (with("'|f4'", "False", "(3,)"), "'|f4' is not known"),
        (with("'=f4'", "False", "(3,)"), "'=f4' is not known"),
        (with("''", "False", "(3,)"), "'' is not known"),
        (with("'<U8'", "False", "(3,)"), "'<U8' is not known"),
    ] {
        let error = Header::parse(text.as_bytes()).unwrap_err();
        assert!(error.contains(expected), "{:.100}: {error}", text);
        assert!(error.len() < 200, "{error}");
    }
}

#[test]
fn each_truncation() {
    for version in [1, 2, 3] {
        let file = around(version, TEXT);
        for length in 0..file.len() {
            assert!(parse(&file[..length]).is_err(), "version {version}, {length} bytes");
        }
    }
}

#[test]
fn each_flipped_bit() {
    let file = header(Element::F64, Order::C, &[31, 17]).print();
    let whole = parse(&file).unwrap();
    let mut read = 0;
    for bit in 0..file.len() * 8 {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // What is read is another header, or differs in what means nothing.
        if let Ok(other) = parse(&flipped) {
            read += 1;
            let at = bit / 8;
            assert!(other != whole || flipped[at].is_ascii_whitespace() || b"'\"".contains(&flipped[at]) || at < FIXED);
        }
    }
    assert!(read < file.len(), "{read}");
}

#[test]
fn a_long_header_is_not_read() {
    let mut file = around(2, TEXT);
    file[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(text_range(&file[..FIXED]).unwrap_err().contains("4294967295 bytes, the limit is 65536"));
}

proptest! {
    #[test]
    fn nothing_panics(text in proptest::collection::vec(any::<u8>(), 0..80), version in 0u8..5) {
        let _ = Header::parse(&text);
        let _ = parse(&around(version, &String::from_utf8_lossy(&text)));
        let _ = text_range(&text);
    }

    #[test]
    fn nothing_panics_near_a_header(at in 0usize..60, byte in any::<u8>(), cut in 0usize..70, extra in "[(){}',:0-9 <>|a-z]{0,12}") {
        let mut text = TEXT.as_bytes().to_vec();
        text[at] = byte;
        text.truncate(cut);
        text.splice(at.min(text.len())..at.min(text.len()), extra.bytes());
        let _ = Header::parse(&text);
    }
}
