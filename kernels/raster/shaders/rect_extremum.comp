// Extremum of at most 2 x 2 pixels per rectangle, at the finest level where the rectangle spans no more; where that
// reaches what it will be compared with, once more from some levels finer.
// Constants: BYTES (0: floats, 1: bytes), SMALLEST (0: maximum, 1: minimum).
#include "better.glsl"

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Levels { uint data[]; };
layout(std430, binding = 1) readonly buffer Shapes { uvec4 shapes[]; };  // per level: width, height, begin
layout(std430, binding = 2) readonly buffer Rects { ivec4 rects[]; };
layout(std430, binding = 3) readonly buffer Images { int image_of[]; };
layout(std430, binding = 4) readonly buffer Against { uint against[]; };
layout(std430, binding = 5) writeonly buffer Result { uint result[]; };

uniform uint count, nothing;
uniform int finer;  // 0: compared with nothing

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

uint look_up(ivec4 rect, int image, uint k) {
    ivec2 size = ivec2(shapes[0].xy);
    rect = ivec4(max(rect.xy, 0), min(rect.zw, size - 1));
    if (any(greaterThan(rect.xy, rect.zw))) return nothing;
    int level = 0;
    while (any(greaterThan((rect.zw >> level) - (rect.xy >> level), ivec2(1)))) level++;
    uint best = extremum(rect, image, level);
    return finer > 0 && reaches(best, against[k]) ? extremum(rect, image, max(level - finer, 0)) : best;
}

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint k = gl_GlobalInvocationID.x; k < count; k += step)
        result[k] = look_up(rects[k], image_of.length() > 1 ? image_of[k] : image_of[0], k);
}
