// Level 0 of a depth pyramid.
layout(local_size_x = 64, local_size_y = 4) in;

layout(binding = 0) uniform sampler2D depth;

layout(std430, binding = 0) writeonly buffer Levels { float data[]; };

void main() {
    ivec2 size = textureSize(depth, 0), pixel = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(pixel, size))) data[pixel.y * size.x + pixel.x] = texelFetch(depth, pixel, 0).r;
}
