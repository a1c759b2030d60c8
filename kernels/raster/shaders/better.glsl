// Which of two stored values is the larger, or the smaller. Constants: BYTES (0: floats, 1: bytes), SMALLEST (0 or 1).

// Floats as whole numbers of the same order, because comparing floats may take subnormal numbers for zero.
uint ordered(uint bits) {
    if (bool(BYTES)) return bits;
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

bool is_nan(uint bits) { return !bool(BYTES) && (bits & 0x7FFFFFFFu) > 0x7F800000u; }

// A NaN wins on either side.
uint better(uint a, uint b) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) ? a : b;
    return (ordered(a) < ordered(b)) == bool(SMALLEST) ? a : b;
}
