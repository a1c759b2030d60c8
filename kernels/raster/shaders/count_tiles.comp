// How many pixels want each tile.
layout(local_size_x = 16, local_size_y = 16) in;

layout(binding = 0) uniform usampler2D feedback;

layout(std430, binding = 0) buffer Counts { uint counts[]; };
layout(std430, binding = 1) readonly buffer Textures { uvec2 textures[]; };  // row of level 0 in levels, tail level
layout(std430, binding = 2) readonly buffer Levels { uvec2 levels[]; };      // number of the first tile, columns

void main() {
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, textureSize(feedback, 0)))) return;
    uvec4 wanted = texelFetch(feedback, pixel, 0);
    if (wanted.x == 0xFFFFFFFFu) return;
    uvec2 image = textures[wanted.x];
    // The exponent of a float >= 1 is the whole part of its logarithm.
    uint level = min((wanted.y >> 23) - 127u, image.y);
    uvec2 row = levels[image.x + level], place = wanted.zw >> level;
    atomicAdd(counts[row.x + place.y * row.y + place.x], 1u);
}
