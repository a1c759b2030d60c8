// The matrices of all instances to clip space: in float64, which bounds are tested by, and in float32.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Camera { dvec4 camera[4]; };         // rows
layout(std430, binding = 1) readonly buffer Placements { dvec4 placements[]; };  // three rows each
layout(std430, binding = 2) writeonly buffer Rows { dvec4 rows[]; };             // four rows each
layout(std430, binding = 3) writeonly buffer ToClip { vec4 clip_rows[]; };       // four rows each

uniform uint count;

dvec4 times(dvec4 row, uint instance) {
    dvec4 x = placements[3u * instance], y = placements[3u * instance + 1u], z = placements[3u * instance + 2u];
    return row.x * x + row.y * y + row.z * z + dvec4(0.0LF, 0.0LF, 0.0LF, row.w);
}

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint instance = gl_GlobalInvocationID.x; instance < count; instance += step)
        for (uint row = 0u; row < 4u; row++) {
            dvec4 found = times(camera[row], instance);
            rows[4u * instance + row] = found;
            clip_rows[4u * instance + row] = vec4(found);
        }
}
