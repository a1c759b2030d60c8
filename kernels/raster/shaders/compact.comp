// The counters that are not zero, in no particular order.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Counts { uint counts[]; };
layout(std430, binding = 1) buffer Found { uint found; uint padding; uvec2 entries[]; };  // tile, count

uniform uint tiles;

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint tile = gl_GlobalInvocationID.x; tile < tiles; tile += step)
        if (counts[tile] > 0u) entries[atomicAdd(found, 1u)] = uvec2(tile, counts[tile]);
}
