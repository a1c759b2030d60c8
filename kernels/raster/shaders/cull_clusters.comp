// Which candidates a pass draws.
// Constants: PASS (0: all, 1: in the frustum, 2: first of two, what was visible in the last frame, 3: second, what the
// depth of the first does not hide), SMALLEST (1: reversed depth), BYTES (0).
#include "better.glsl"
#include "box.glsl"

layout(local_size_x = 64) in;

struct Cluster {
    float low_x, low_y, low_z, high_x, high_y, high_z;
    uint triangles, page, first_vertex, first_corner, mesh, number;
};

layout(std430, binding = 0) readonly buffer Levels { uint data[]; };
layout(std430, binding = 1) readonly buffer Clusters { Cluster clusters[]; };
layout(std430, binding = 2) readonly buffer Shapes { uvec4 shapes[]; };
layout(std430, binding = 3) readonly buffer Candidates { uvec2 candidates[]; };
layout(std430, binding = 4) readonly buffer Rows { dvec4 rows[]; };
layout(std430, binding = 5) readonly buffer Instances { uvec2 instances[]; };
layout(std430, binding = 6) readonly buffer Seen { uint seen[]; };
layout(std430, binding = 7) buffer NowSeen { uint now_seen[]; };
layout(std430, binding = 8) writeonly buffer Flags { uint flags[]; };
layout(std430, binding = 9) buffer Counters { uint counters[]; };  // triangles in the frustum, visible, drawn

uniform uint count, nothing;
uniform int finer;
uniform double slack;
uniform uvec2 size;

#include "rect.glsl"

bool is_hidden(Bounds bounds) {
    if (bounds.anywhere) return false;
    uint depth = floatBitsToUint(bounds.depth);
    float farthest = uintBitsToFloat(look_up(bounds.rect, 0, depth));
    return bool(SMALLEST) ? bounds.depth < farthest : bounds.depth > farthest;
}

Bounds bounds_of_candidate(uvec2 pair, Cluster c) {
    dvec4 own[4];
    for (uint row = 0u; row < 4u; row++) own[row] = rows[4u * pair.x + row];
    vec3 low = vec3(c.low_x, c.low_y, c.low_z), high = vec3(c.high_x, c.high_y, c.high_z);
    return bounds_of(low, high, own, dvec2(size), slack, bool(SMALLEST));
}

bool is_drawn(uint k) {
    uvec2 pair = candidates[k];
    Cluster cluster = clusters[pair.y];
#if PASS == 0
    atomicAdd(counters[0], cluster.triangles);
    return true;
#else
    Bounds bounds = bounds_of_candidate(pair, cluster);
    if (bounds.nowhere) return false;
#if PASS == 1
    atomicAdd(counters[0], cluster.triangles);
    return true;
#else
    uint bit = pair.y - instances[pair.x].y, word = instances[pair.x].x + bit / 32u, mask = 1u << (bit % 32u);
    bool before = (seen[word] & mask) != 0u;
#if PASS == 2
    atomicAdd(counters[0], cluster.triangles);
    return before;
#else
    if (is_hidden(bounds)) return false;
    atomicAdd(counters[1], cluster.triangles);
    atomicOr(now_seen[word], mask);
    return !before;
#endif
#endif
#endif
}

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint k = gl_GlobalInvocationID.x; k < count; k += step) {
        bool drawn = is_drawn(k);
        flags[k] = drawn ? 1u : 0u;
        if (drawn) atomicAdd(counters[2], clusters[candidates[k].y].triangles);
    }
}
