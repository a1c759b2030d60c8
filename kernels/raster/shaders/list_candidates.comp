// A candidate for each bit that is set, in the order of the bits.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Words { uint words[]; };
layout(std430, binding = 1) readonly buffer Before { uint before[]; };
layout(std430, binding = 2) readonly buffer Sums { uint sums[]; };
layout(std430, binding = 3) readonly buffer Owners { uint owners[]; };        // instance of each word
layout(std430, binding = 4) readonly buffer Instances { uvec2 instances[]; };  // first word, first cluster
layout(std430, binding = 5) writeonly buffer Candidates { uvec2 candidates[]; };

uniform uint count;

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint k = gl_GlobalInvocationID.x; k < count; k += step) {
        uint word = words[k], at = sums[k / 1024u] + before[k], owner = owners[k];
        uint first = instances[owner].y + 32u * (k - instances[owner].x);
        for (; word != 0u; word &= word - 1u) candidates[at++] = uvec2(owner, first + uint(findLSB(word)));
    }
}
