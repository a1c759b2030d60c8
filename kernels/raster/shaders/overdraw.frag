// Counts how often each pixel is drawn.
layout(r32ui, binding = 0) uniform uimage2D counts;

void main() { imageAtomicAdd(counts, ivec2(gl_FragCoord.xy), 1u); }
