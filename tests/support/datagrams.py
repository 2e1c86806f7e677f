"""Changes what is programmed into a simulated fabric, datagram by datagram, through the real
libibumad. Run as a program under ibsim-run (support/ibsim.py does), one command on each line of
standard input; a way is the out ports of a directed route, with commas:

    lft 1,5 LID PORT              one entry of the switch at the end of a way
    sl2vl 1,5 IN OUT L0,L1,…      a table of VLs
    mft 1,5 MLID PORT,PORT…       one entry of a multicast table
    join MGID GUID                a port joins a multicast group (asks the subnet manager)
"""
import ctypes
import struct
import sys

DIRECTED, SA = 0x81, 0x03
GET, SET = 1, 2
LFT, SL2VL, MFT, MEMBER = 0x19, 0x17, 0x1b, 0x38


class Umad:
    def __init__(self):
        self.library = ctypes.CDLL("libibumad.so.3")
        self.library.umad_size.restype = ctypes.c_size_t
        assert self.library.umad_init() == 0
        self.port = self.library.umad_open_port(None, 0)
        assert self.port >= 0, "no port"
        self.agents = {DIRECTED: self.library.umad_register(self.port, DIRECTED, 1, 0, None),
                       SA: self.library.umad_register(self.port, SA, 2, 0, None)}
        self.number = 0

    def ask(self, mad, lid=0xffff):
        """Sends 256 bytes and returns those of the answer."""
        size = self.library.umad_size()
        self.number += 1
        mad[12:16] = struct.pack(">I", self.number)
        directed = mad[1] == DIRECTED
        buffer = ctypes.create_string_buffer(bytes(size) + bytes(mad), size + 256)
        self.library.umad_set_addr(buffer, lid, 0 if directed else 1, 0,
                                   0 if directed else ctypes.c_int(0x80010000))
        assert self.library.umad_send(self.port, self.agents[mad[1]], buffer, 256, 1000, 3) == 0
        length = ctypes.c_int(256)
        assert self.library.umad_recv(self.port, buffer, ctypes.byref(length), 5000) >= 0
        answer = buffer.raw[size:size + 256]
        status = struct.unpack(">H", answer[4:6])[0] & (0x7fff if directed else 0xffff)
        assert answer[3] & 0x80 and status == 0, "refused with 0x%x" % status
        return bytearray(answer)

    def node(self, method, way, attribute, modifier, data=bytes(64)):
        mad = bytearray(256)
        mad[0:4] = bytes([1, DIRECTED, 1, method])
        mad[7] = len(way)
        mad[16:24] = struct.pack(">HHI", attribute, 0, modifier)
        mad[32:36] = b"\xff\xff\xff\xff"
        mad[64:128] = data
        mad[129:129 + len(way)] = bytes(way)
        return self.ask(mad)[64:128]


def numbers(text):
    return [int(n) for n in text.split(",") if n]


def set_lft(umad, way, lid, port):
    data = umad.node(GET, way, LFT, lid // 64)
    data[lid % 64] = port
    umad.node(SET, way, LFT, lid // 64, data)


def set_sl2vl(umad, way, into, out, vls):
    data = bytes(vls[i] << 4 | vls[i + 1] for i in range(0, 16, 2)) + bytes(56)
    umad.node(SET, way, SL2VL, into << 8 | out, data)


def set_mft(umad, way, mlid, ports):
    for position in range(16):
        mask = sum(1 << p % 16 for p in ports if p // 16 == position)
        if mask:
            block, offset = (mlid - 0xc000) // 32, (mlid - 0xc000) % 32
            data = umad.node(GET, way, MFT, position << 28 | block)
            data[2 * offset:2 * offset + 2] = struct.pack(">H", mask)
            umad.node(SET, way, MFT, position << 28 | block, data)


def join(umad, mgid, guid, manager):
    mad = bytearray(256)
    mad[0:4] = bytes([1, SA, 2, SET])
    mad[16:18] = struct.pack(">H", MEMBER)
    mad[48:56] = struct.pack(">Q", 1 << 0 | 1 << 1 | 1 << 16)  # group, port, how to join
    mad[56:72] = mgid
    mad[72:88] = struct.pack(">QQ", 0xfe80000000000000, guid)
    mad[56 + 48] = 1  # a full member
    umad.ask(mad, manager)


def main():
    umad = Umad()
    for line in sys.stdin:
        what, *words = line.split()
        if what == "lft":
            set_lft(umad, numbers(words[0]), int(words[1]), int(words[2]))
        elif what == "sl2vl":
            set_sl2vl(umad, numbers(words[0]), int(words[1]), int(words[2]), numbers(words[3]))
        elif what == "mft":
            set_mft(umad, numbers(words[0]), int(words[1], 16), numbers(words[2]))
        elif what == "join":
            join(umad, bytes.fromhex(words[0]), int(words[1], 16), int(words[2]))
        else:
            sys.exit("what is '%s'?" % what)


if __name__ == "__main__":
    main()
