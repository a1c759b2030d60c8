// Which nodes are good enough while their parents are not: 1 or 0 for each node of each row.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Parents { int parents[]; };
layout(std430, binding = 1) readonly buffer Errors { float errors[]; };
layout(std430, binding = 2) readonly buffer Limits { float limits[]; };
layout(std430, binding = 3) writeonly buffer Drawn { uint drawn[]; };

uniform uint count, nodes;

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint k = gl_GlobalInvocationID.x; k < count; k += step) {
        uint row = k / nodes;
        int parent = parents[k % nodes];
        bool good = errors[k] <= limits[row];
        drawn[k] = uint(good && (parent < 0 || errors[row * nodes + uint(parent)] > limits[row]));
    }
}
