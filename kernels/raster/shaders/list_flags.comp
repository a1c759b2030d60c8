// The number of each flag that is set, in rising order.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Flags { uint flags[]; };
layout(std430, binding = 1) readonly buffer Before { uint before[]; };
layout(std430, binding = 2) readonly buffer Sums { uint sums[]; };
layout(std430, binding = 3) writeonly buffer Listed { uint listed[]; };

uniform uint count;

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint k = gl_GlobalInvocationID.x; k < count; k += step)
        if (flags[k] != 0u) listed[sums[k / 1024u] + before[k]] = k;
}
