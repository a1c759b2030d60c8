// Exclusive prefix sums within blocks of 1,024 values, and the sum of each block.
// Blelloch, Prefix Sums and Their Applications, 1990; the sums within a group by Hillis and Steele, 1986.
layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer Values { uint values[]; };
layout(std430, binding = 1) writeonly buffer Before { uint before[]; };
layout(std430, binding = 2) writeonly buffer Sums { uint sums[]; };

uniform uint count, blocks;

shared uint running[256];

uint inclusive(uint value) {
    uint me = gl_LocalInvocationID.x;
    running[me] = value;
    barrier();
    for (uint reach = 1u; reach < 256u; reach *= 2u) {
        uint other = me >= reach ? running[me - reach] : 0u;
        barrier();
        running[me] += other;
        barrier();
    }
    return running[me];
}

void main() {
    uint me = gl_LocalInvocationID.x;
    for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
        uint first = 1024u * block + 4u * me, own[4], sum = 0u;
        for (uint k = 0u; k < 4u; k++) {
            own[k] = first + k < count ? values[first + k] : 0u;
            sum += own[k];
        }
        uint end = inclusive(sum), at = end - sum;
        for (uint k = 0u; k < 4u; k++) {
            if (first + k < count) before[first + k] = at;
            at += own[k];
        }
        if (me == 255u) sums[block] = end;
        barrier();
    }
}
