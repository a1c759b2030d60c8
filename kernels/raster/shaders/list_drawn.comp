// The candidates that are drawn, in order, and the command that draws them.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Flags { uint flags[]; };
layout(std430, binding = 1) readonly buffer Before { uint before[]; };
layout(std430, binding = 2) readonly buffer Sums { uint sums[]; };
layout(std430, binding = 3) writeonly buffer Listed { uint listed[]; };
layout(std430, binding = 4) writeonly buffer Command { uint command[5]; };  // vertices, instances, first, first, unused

uniform uint count, blocks, vertices;

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint k = gl_GlobalInvocationID.x; k < count; k += step)
        if (flags[k] != 0u) listed[sums[k / 1024u] + before[k]] = k;
    if (gl_GlobalInvocationID.x == 0u) command = uint[](vertices, sums[blocks], 0u, 0u, 0u);
}
