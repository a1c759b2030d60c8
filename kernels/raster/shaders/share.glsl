// How the pixels of an axis share an output pixel; derived in hra.kernels.pyramids.levels.reference.

// Weight of pixel 2i + tap in output pixel i, over `divisor`.
uint share(uint i, int tap, uint count) {
    if (count % 2u == 0u) return tap < 0 ? 0u : 1u;
    uint length = (count + 1u) / 2u;
    return tap < 0 ? i : tap == 0 ? length : length - 1u - i;
}

uint divisor(uint count) { return count % 2u == 0u ? 2u : count; }
