// How often each pixel was drawn, from black over red and yellow to white at eight times.
layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0) uniform usampler2D counts;
layout(rgba8, binding = 0) writeonly uniform image2D picture;

void main() {
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, imageSize(picture)))) return;
    float heat = float(texelFetch(counts, pixel, 0).x) / 8.0;
    imageStore(picture, pixel, vec4(clamp(vec3(3.0 * heat, 3.0 * heat - 1.0, 3.0 * heat - 2.0), 0.0, 1.0), 1.0));
}
