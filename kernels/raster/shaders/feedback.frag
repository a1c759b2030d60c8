layout(std430, binding = 2) readonly buffer Sizes { vec2 sizes[]; };  // texels of level 0

uniform float tile;

in vec2 coordinates;
flat in uvec2 drawn;

out uvec4 wanted;  // texture, footprint in texels (the bits of a float), column and row of the finest tile

void main() {
    // 1/w and uv/w are linear on the screen, so their differences between pixels are exact derivatives; those of uv
    // itself would be off by 1/n at n pixels from the horizon.
    float q = gl_FragCoord.w;
    vec2 numerator = coordinates * q;
    vec2 size = sizes[drawn.x];
    vec2 across = (dFdx(numerator) - coordinates * dFdx(q)) / q * size;
    vec2 down = (dFdy(numerator) - coordinates * dFdy(q)) / q * size;
    float footprint = max(1.0, max(length(across), length(down)));
    vec2 texel = min(fract(coordinates) * size, size - 1.0);
    wanted = uvec4(drawn.x, floatBitsToUint(footprint), uvec2(texel / tile));
}
