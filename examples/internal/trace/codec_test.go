package trace_test

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// snappyJava packs as snappy-java's SnappyOutputStream does: a header, then blocks with their lengths.
func snappyJava(data []byte) []byte {
	out := []byte("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01")
	for len(data) > 0 {
		n := min(len(data), 1000)
		block := snappy.Encode(nil, data[:n])
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(block))), block...)
		data = data[n:]
	}
	return out
}

func lz4Frames(t testing.TB, data []byte) []byte {
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	require.NoError(t, w.Apply(lz4.BlockSizeOption(lz4.Block64Kb))) // a reader allocates a block
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func snappyFrames(t testing.TB, data []byte) []byte {
	var out bytes.Buffer
	w := s2.NewWriter(&out, s2.WriterSnappyCompat())
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// packers are all the ways to pack that are undone, except bzip2, which nothing here can write.
func packers(t testing.TB) map[string]func([]byte) []byte {
	return map[string]func([]byte) []byte{
		"gzip": func(d []byte) []byte { return gzipped(t, d) }, "zstd": func(d []byte) []byte { return zstded(t, d) },
		"lz4": func(d []byte) []byte { return lz4Frames(t, d) }, "snappy": func(d []byte) []byte { return snappyFrames(t, d) },
		"lz4-java": func(d []byte) []byte { return trace.PackLZ4Blocks(d) }, "snappy-java": snappyJava,
	}
}

// However a log is packed, also twice or in two parts behind one another, it is the same; cut, it is cut. A log is packed
// twice in the same way, and with STRAGGLER_LIVES in any two.
func TestPacked(t *testing.T) {
	data := taskLines(0, 3000)
	want := read(t, string(data))
	for outer, pack := range packers(t) {
		got, err := trace.Read(bytes.NewReader(pack(data)), outer)
		require.NoError(t, err, outer)
		require.Equal(t, want, got, outer)
		got, err = trace.Read(bytes.NewReader(append(pack(data[:70_000]), pack(data[70_000:])...)), outer)
		require.NoError(t, err, outer)
		require.Equal(t, want, got, "%s, joined", outer)
		for inner, again := range packers(t) {
			if inner != outer && os.Getenv("STRAGGLER_LIVES") == "" {
				continue
			}
			got, err := trace.Read(bytes.NewReader(pack(again(data))), outer)
			require.NoError(t, err, "%s in %s", inner, outer)
			require.Equal(t, want, got, "%s in %s", inner, outer)
		}
		packed := pack(data)
		for _, at := range []int{1, 9, 17, 100, len(packed) / 2, len(packed) - 1} {
			log, err := trace.Read(bytes.NewReader(packed[:at]), outer)
			if err == nil && !strings.HasSuffix(outer, "java") { // an end between blocks, or without an end mark, is none
				assert.Equal(t, 1, log.Faults[trace.CutStream], "%s cut at %d", outer, at)
			}
			broken := bytes.Clone(packed)
			broken[at] ^= 0x55
			if log, err := trace.Read(bytes.NewReader(broken), outer); err == nil {
				checkInvariants(t, log)
			}
		}
	}
	packed := data
	for range 4 {
		packed = gzipped(t, packed)
	}
	_, err := trace.Read(bytes.NewReader(packed), "x")
	require.ErrorContains(t, err, "more than 3 times")
}

// Packed and cut at any byte, a log is as much as could be unpacked, or an error. The test cuts at one byte in 21, or
// at each with STRAGGLER_LIVES.
func TestPackedAndCutAnywhere(t *testing.T) {
	data := taskLines(0, 60)
	for name, pack := range packers(t) {
		packed := pack(data)
		most := 0
		for at := 0; at < len(packed); at += 5*step() - 4 {
			log, err := trace.Read(bytes.NewReader(packed[:at]), name)
			if err != nil {
				require.NotContains(t, err.Error(), "\n")
				require.Zero(t, most, "%s cut at %d: %v", name, at, err)
				continue
			}
			checkInvariants(t, log)
			require.GreaterOrEqual(t, attemptsIn(log), most, "%s cut at %d", name, at)
			most = attemptsIn(log)
		}
	}
}

func TestBzip2(t *testing.T) {
	command, err := exec.LookPath("bzip2")
	if err != nil {
		t.Skip("no bzip2 command")
	}
	data := taskLines(0, 30)
	pack := exec.Command(command, "-c")
	pack.Stdin = bytes.NewReader(data)
	packed, err := pack.Output()
	require.NoError(t, err)
	assert.Equal(t, read(t, string(data)), read(t, string(packed)))
}

// A tar archive is refused, packed or not: its headers are no records.
func TestTarIsRefused(t *testing.T) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	data := taskLines(0, 30)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "log", Mode: 0o644, Size: int64(len(data)), Format: tar.FormatUSTAR}))
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for _, text := range [][]byte{out.Bytes(), gzipped(t, out.Bytes()), zstded(t, out.Bytes())} {
		_, err := trace.Read(bytes.NewReader(text), "x")
		require.ErrorContains(t, err, "a tar archive: unpack it first")
	}
	_, err = trace.Read(strings.NewReader("\xff\xfe{\x00"), "x")
	require.ErrorContains(t, err, "UTF-16")
}
