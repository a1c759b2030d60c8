// Where a box appears, conservative; derived in hra.kernels.culling.numba_projection, of which this is a transcription.
// A box is its corners low, high; rows are those of the matrix to the depth buffer's space, float64.

const double ROUNDING = 1.0LF / 2097152.0LF;  // 2**-21, see hra.kernels.culling.depth_view

struct Bounds { bool nowhere, anywhere; ivec4 rect; float depth; };  // inclusive pixels; nearest depth

double least(dvec4 row, dvec3 low, dvec3 high) {
    dvec3 terms = min(row.xyz * low, row.xyz * high);
    return terms.x + terms.y + terms.z + row.w;
}

double most(dvec4 row, dvec3 low, dvec3 high) {
    dvec3 terms = max(row.xyz * low, row.xyz * high);
    return terms.x + terms.y + terms.z + row.w;
}

double allowance(dvec4 row, dvec3 largest) { return ROUNDING * (dot(abs(row.xyz), largest) + abs(row.w)); }

bool beyond(dvec4 plane, dvec3 low, dvec3 high, double tolerance) { return most(plane, low, high) < -tolerance; }

// `size` of the image; `slack` of the depth; `reversed`: depth falls with the distance.
Bounds bounds_of(vec3 corner_low, vec3 corner_high, dvec4 rows[4], dvec2 size, double slack, bool reversed) {
    dvec3 low = dvec3(corner_low), high = dvec3(corner_high), largest = max(abs(low), abs(high));
    dvec4 x = rows[0], y = rows[1], z = rows[2], w = rows[3];
    double of_x = allowance(x, largest), of_y = allowance(y, largest);
    double of_z = allowance(z, largest), of_w = allowance(w, largest);
    double tolerance = max(max(of_x, of_y), of_z) + of_w;
    double least_w = least(w, low, high);
    dvec4 near = reversed ? w - z : z, far = reversed ? z : w - z;
    // Asked for what holds and negated: comparisons with NaN are false, so that NaN ends up as anywhere.
    bool anywhere = !(least(near, low, high) > 0.0LF && least_w > of_w);
    bool outside = beyond(near, low, high, tolerance) || beyond(far, low, high, tolerance);
    if (anywhere) {
        outside = outside || beyond(w + x, low, high, tolerance) || beyond(w - x, low, high, tolerance);
        outside = outside || beyond(w + y, low, high, tolerance) || beyond(w - y, low, high, tolerance);
        return Bounds(outside, true, ivec4(0, 0, ivec2(size) - 1), 0.0);
    }
    if (outside) return Bounds(true, false, ivec4(0), 0.0);
    dvec3 first = dvec3(1.0LF / 0.0LF), last = -first;
    for (int corner = 0; corner < 8; corner++) {
        dvec4 at = dvec4(mix(low, high, bvec3(corner & 1, corner & 2, corner & 4)), 1.0LF);
        dvec3 place = dvec3(dot(x, at), dot(y, at), reversed ? -dot(z, at) : dot(z, at)) / dot(w, at);
        first = min(first, place);
        last = max(last, place);
    }
    dvec2 margin = 0.5LF * size * (dvec2(of_x, of_y) + of_w) / least_w;
    dvec2 begin = floor(max((1.0LF + dvec2(first.x, -last.y)) * 0.5LF * size - margin, dvec2(0.0LF)));
    dvec2 end = floor(min((1.0LF + dvec2(last.x, -first.y)) * 0.5LF * size + margin, size - 1.0LF));
    double share = reversed ? -first.z : 1.0LF;
    double nearest = first.z - slack - (of_z + share * of_w) / least_w;
    bool nowhere = begin.x > end.x || begin.y > end.y;
    return Bounds(nowhere, false, ivec4(ivec2(begin), ivec2(end)), float(reversed ? -nearest : nearest));
}
