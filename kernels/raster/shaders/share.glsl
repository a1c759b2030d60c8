// How the pixels of an axis share an output pixel; derived in hra.kernels.pyramids.levels.reference.

// Constant: BLOCKS (0, or 1: the last pixel of an odd size counts twice).

// Weight of pixel 2i + tap in output pixel i, over `divisor`.
uint share(uint i, int tap, uint count) {
    if (bool(BLOCKS) && 2u * i + 1u == count) return tap == 0 ? 2u : 0u;
    if (bool(BLOCKS) || count % 2u == 0u) return tap < 0 ? 0u : 1u;
    uint length = (count + 1u) / 2u;
    return tap < 0 ? i : tap == 0 ? length : length - 1u - i;
}

uint divisor(uint count) { return bool(BLOCKS) || count % 2u == 0u ? 2u : count; }
