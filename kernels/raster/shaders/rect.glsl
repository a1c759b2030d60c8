// The extremum of a pyramid within a rectangle. Before it: better.glsl, buffers data[] and shapes[], uniforms nothing
// and finer (0: compared with nothing).

uint at(uint position) {
    return bool(BYTES) ? bitfieldExtract(data[position / 4u], int(position % 4u) * 8, 8) : data[position];
}

bool reaches(uint value, uint other) {
    if (is_nan(value) || is_nan(other)) return true;
    return bool(SMALLEST) ? ordered(value) <= ordered(other) : ordered(value) >= ordered(other);
}

uint extremum(ivec4 rect, int image, int level) {
    uint best = nothing;
    uvec4 shape = shapes[level];
    uint begin = shape.z + uint(image) * shape.x * shape.y;
    for (int y = rect.y >> level; y <= rect.w >> level; y++)
        for (int x = rect.x >> level; x <= rect.z >> level; x++)
            best = better(at(begin + uint(y) * shape.x + uint(x)), best);
    return best;
}

// At most 2 x 2 pixels at the finest level where the rectangle spans no more; where that reaches `against`, once more
// from some levels finer.
uint look_up(ivec4 rect, int image, uint against) {
    ivec2 size = ivec2(shapes[0].xy);
    rect = ivec4(max(rect.xy, 0), min(rect.zw, size - 1));
    if (any(greaterThan(rect.xy, rect.zw))) return nothing;
    int level = 0;
    while (any(greaterThan((rect.zw >> level) - (rect.xy >> level), ivec2(1)))) level++;
    uint best = extremum(rect, image, level);
    return finer > 0 && reaches(best, against) ? extremum(rect, image, max(level - finer, 0)) : best;
}
