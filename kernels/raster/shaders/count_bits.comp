// How many bits of each word are set.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Words { uint words[]; };
layout(std430, binding = 1) writeonly buffer Counts { uint counts[]; };

uniform uint count;

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint k = gl_GlobalInvocationID.x; k < count; k += step) counts[k] = uint(bitCount(words[k]));
}
