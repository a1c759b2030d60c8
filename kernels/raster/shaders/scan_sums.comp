// Exclusive prefix sums of the blocks' sums, in place, and behind them the sum of all; one group.
layout(local_size_x = 256) in;

layout(std430, binding = 0) buffer Sums { uint sums[]; };

uniform uint blocks;

shared uint running[256];

void main() {
    uint me = gl_LocalInvocationID.x, carried = 0u;
    for (uint begin = 0u; begin < blocks; begin += 256u) {
        uint value = begin + me < blocks ? sums[begin + me] : 0u;
        running[me] = value;
        barrier();
        for (uint reach = 1u; reach < 256u; reach *= 2u) {
            uint other = me >= reach ? running[me - reach] : 0u;
            barrier();
            running[me] += other;
            barrier();
        }
        if (begin + me < blocks) sums[begin + me] = carried + running[me] - value;
        carried += running[255];
        barrier();
    }
    if (me == 0u) sums[blocks] = carried;
}
