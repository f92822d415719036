//! Reads at other coordinates.

use super::Channels::{Any, Only};
use super::{C, K, N, Q, R, Rows, Scalar, X, Y, rows};
use std::marker::PhantomData;
use tilewright_expr::{
    Aspect, Border, Centres, Deinterlace, Edge, Filter, Pixel, PlaneOrder, Sampled, concatenate, coordinate,
};

pub(super) fn every<T: Scalar>(rows: &mut impl Rows, _: PhantomData<T>) {
    rows! { rows, T:
        "crop", Any => |g| {
            g.a.crop::<Y, X, _>(g.boxes).resize_nearest::<Y, X>(3, 4, Centres::Half).store::<(N, C, Y, X)>()
        };
        "crop_border", Any => |g| {
            let crops = g.a.slice::<X>(1, 3).crop_border::<Y, X, _>(g.boxes, Border::Reflect101);
            crops.resize_nearest::<Y, X>(3, 4, Centres::Half).store::<(N, Y, X, C)>()
        };
        "crop_at", Any => |g| g.a.crop_at::<Y, X>((1, 2), (3, 3)).store::<(Y, X, C)>();
        "slice", Any => |g| g.a.slice::<X>(1, 4).store::<(C, Y, X)>();
        "pad constant", Any => |g| g.a.pad::<X>(2, 3, Border::Constant(T::from_bits64(1))).store::<(Y, X, C)>();
        "pad replicate", Any => |g| g.a.pad::<X>(9, 1, Border::Replicate).store::<(Y, X, C)>();
        "pad reflect", Any => |g| g.a.pad::<Y>(7, 9, Border::Reflect).store::<(Y, X, C)>();
        "pad reflect101", Any => |g| g.a.pad::<Y>(8, 2, Border::Reflect101).store::<(Y, X, C)>();
        "pad wrap", Any => |g| g.a.pad::<X>(13, 2, Border::Wrap).store::<(Y, X, C)>();
        "rot90 by 1", Any => |g| g.a.rot90::<Y, X>(1).store::<(Y, X, C)>();
        "rot90 by 2", Any => |g| g.a.rot90::<Y, X>(2).store::<(Y, X, C)>();
        "rot90 by -1", Any => |g| g.a.rot90::<Y, X>(-1).store::<(C, Y, X)>();
        "rotate_planes newest first", Any => |g| {
            g.a.rotate_planes::<Y, _>(2, PlaneOrder::NewestFirst).store::<(Y, X, C)>()
        };
        "rotate_planes oldest first", Any => |g| {
            g.a.rotate_planes::<C, _>(-1, PlaneOrder::OldestFirst).store::<(Y, X, C)>()
        };
        "reverse", Any => |g| g.a.reverse::<X>().store::<(Y, X, C)>();
        "reverse channels", Any => |g| g.a.reverse::<C>().store::<(Y, X, C)>();
        "reorder", Any => |g| g.a.reorder::<Y>(&[2, 0, 0, 3, 1]).store::<(Y, X, C)>();
        "reorder channels", Only(&[3], "the order names three channels") => |g| {
            g.a.reorder::<C>(&[1, 2, 0]).store::<(Y, X, C)>()
        };
        "rename", Any => |g| g.a.rename::<C, K>().store::<(K, X, Y)>();
        "repeat", Any => |g| g.a.repeat::<N>(3).store::<(N, Y, X, C)>();
        "at", Any => |g| g.a.at::<X, _>(1).store::<(Y, C)>();
        "at_sized", Any => |g| g.a.at_sized::<X, _>((coordinate::<X>() * 2).min(5), 3).store::<(Y, X, C)>();
        "at_point", Any => |g| {
            let [v, u] = g.places.map(|p| p.to::<i32>());
            g.a.at_point::<Y, X, _, _>(v.clamp(0, 3), u.clamp(0, 5)).store::<(R, Q, C)>()
        };
        "at_border", Any => |g| {
            let far = g.places[1].to::<i32>() * 5 - 9;
            g.a.at_border::<X, _>(far, Border::Reflect).store::<(Y, R, Q, C)>()
        };
        "at_border_sized", Any => |g| {
            g.a.at_border_sized::<X, _>(coordinate::<X>() * 3 - 5, 6, Border::Wrap).store::<(Y, X, C)>()
        };
        "at_point_border", Any => |g| {
            let [v, u] = g.places.map(|p| p.to::<i32>());
            g.a.at_point_border::<Y, X, _, _>(v, u, Border::Constant(T::default())).store::<(C, R, Q)>()
        };
        "resize_nearest half", Any => |g| g.a.resize_nearest::<Y, X>(3, 8, Centres::Half).store::<(Y, X, C)>();
        "resize_nearest corner", Any => |g| g.a.resize_nearest::<Y, X>(7, 3, Centres::Corner).store::<(Y, X, C)>();
        "concatenate", Any => |g| concatenate::<X, _>((g.a, g.b.slice::<X>(0, 2), g.c)).store::<(Y, X, C)>();
    }
}

pub(super) fn sampled<T: Scalar + Sampled + Pixel<Real: Scalar>>(rows: &mut impl Rows, _: PhantomData<T>) {
    rows! { rows, T:
        "resize", Any => |g| g.a.resize::<Y, X>(3, 8).store::<(C, Y, X)>();
        "resize_with nearest", Any => |g| g.a.resize_with::<Y, X>(3, 8, Filter::Nearest).store::<(Y, X, C)>();
        "resize_with linear corner", Any => |g| {
            g.a.resize_with::<Y, X>(3, 8, Filter::Linear.at(Centres::Corner)).store::<(Y, X, C)>()
        };
        "resize_with cubic", Any => |g| g.a.resize_with::<Y, X>(3, 8, Filter::Cubic).store::<(Y, X, C)>();
        "resize_with lanczos", Any => |g| g.a.resize_with::<Y, X>(2, 3, Filter::Lanczos4).store::<(Y, X, C)>();
        "resize_with area", Any => |g| g.a.resize_with::<Y, X>(3, 4, Filter::Area).store::<(Y, X, C)>();
        "resize_at", Any => |g| {
            g.a.resize_at::<Y, X>(3, 8, Filter::Linear, |i, from, to| i * from / to).store::<(Y, X, C)>()
        };
        "resize_by", Any => |g| g.a.resize_by::<Y, X>((0.5, 1.5), Filter::Linear).store::<(Y, X, C)>();
        "resize_fit", Any => |g| {
            g.a.resize_fit::<Y, X, _>(7, 5, Filter::Linear, Aspect::Preserve, tilewright_expr::constant(T::Real::default())).store::<(Y, X, C)>()
        };
        "deinterlace blend", Any => |g| g.a.deinterlace::<Y>(Deinterlace::Blend).store::<(Y, X, C)>();
        "deinterlace keep even", Any => |g| g.a.deinterlace::<Y>(Deinterlace::KeepEven).store::<(Y, X, C)>();
        "deinterlace keep odd", Any => |g| g.a.deinterlace::<Y>(Deinterlace::KeepOdd).store::<(Y, X, C)>();
        "remap nearest", Any => |g| {
            g.a.remap::<Y, X, _, _>(g.places[0], g.places[1], Filter::Nearest, Border::Wrap).store::<(R, Q, C)>()
        };
        "remap linear", Any => |g| {
            g.a.remap::<Y, X, _, _>(g.places[0], g.places[1], Filter::Linear, Edge::Cut(T::default())).store::<(R, Q, C)>()
        };
        "remap cubic", Any => |g| {
            g.a.remap::<Y, X, _, _>(g.places[0], g.places[1], Filter::Cubic, Border::Replicate).store::<(C, R, Q)>()
        };
        "warp_affine linear", Any => |g| {
            g.a.warp_affine::<Y, X, _>(g.affine, 3, 5, Filter::Linear, Border::Constant(T::default())).store::<(N, Y, X, C)>()
        };
        "warp_affine nearest", Any => |g| {
            g.a.warp_affine::<Y, X, _>(g.affine, 3, 5, Filter::Nearest, Border::Reflect).store::<(N, Y, X, C)>()
        };
        "warp_perspective linear", Any => |g| {
            g.a.warp_perspective::<Y, X, _>(g.perspective, 3, 5, Filter::Linear, Border::Reflect101).store::<(N, C, Y, X)>()
        };
        "warp_perspective cubic", Any => |g| {
            g.a.warp_perspective::<Y, X, _>(g.perspective, 2, 3, Filter::Cubic, Border::Replicate).store::<(N, Y, X, C)>()
        };
    }
}
