package format

import (
	"encoding/binary"
	"errors"
)

var errLZ4 = errors.New("broken LZ4 data")

// unpackLZ4 unpacks one LZ4 block, which must give size bytes. Source: the LZ4
// block format description: a token of two lengths, literals, a match that ends
// behind them, and so on.
func unpackLZ4(src []byte, size int) ([]byte, error) {
	dst := make([]byte, 0, size)
	for len(src) > 0 {
		token := src[0]
		n, rest, ok := lz4Length(int(token>>4), src[1:])
		if !ok || n > len(rest) || n > size-len(dst) {
			return nil, errLZ4
		}
		dst, src = append(dst, rest[:n]...), rest[n:]
		if len(src) == 0 {
			return dst, nil // the last sequence is literals only
		}
		if len(src) < 2 {
			return nil, errLZ4
		}
		back := int(binary.LittleEndian.Uint16(src))
		n, src, ok = lz4Length(int(token&15), src[2:])
		if n += 4; !ok || back == 0 || back > len(dst) || n > size-len(dst) {
			return nil, errLZ4
		}
		// a match may run into what it writes
		for from := len(dst) - back; n > 0; {
			m := min(n, len(dst)-from)
			dst = append(dst, dst[from:from+m]...)
			n -= m
		}
	}
	return dst, nil
}

// lz4Length reads a length: 15 goes on in the bytes that follow.
func lz4Length(n int, src []byte) (int, []byte, bool) {
	if n < 15 {
		return n, src, true
	}
	for i, b := range src {
		n += int(b)
		if b != 255 {
			return n, src[i+1:], true
		}
	}
	return 0, nil, false
}

// unpackOldLZ4 unpacks what Parquet's deprecated codec LZ4 holds: Hadoop's
// framing, blocks behind two big-endian lengths (unpacked, packed), or one bare
// block, as some writers made it. Source: Compression.md of apache/parquet-format.
func unpackOldLZ4(src []byte, size int) ([]byte, error) {
	dst := make([]byte, 0, size)
	for rest := src; ; {
		if len(rest) == 0 && len(dst) == size {
			return dst, nil
		}
		if len(rest) < 8 {
			break
		}
		plain, packed := int64(binary.BigEndian.Uint32(rest)), int64(binary.BigEndian.Uint32(rest[4:]))
		if rest = rest[8:]; packed > int64(len(rest)) || plain > int64(size-len(dst)) {
			break
		}
		block, err := unpackLZ4(rest[:packed], int(plain))
		if err != nil || int64(len(block)) != plain {
			break
		}
		dst, rest = append(dst, block...), rest[packed:]
	}
	return unpackLZ4(src, size)
}
