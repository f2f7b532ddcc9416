package snapshot

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// house has fields on three levels.
type house struct {
	owner    string
	floors   []int
	attic    bool
	flat     flat
	cellar   int // has no field if it is none
	doors    int
	neighbor flat
}

const none = -1

// flat is a part with a snapshot of its own.
type flat struct{ rooms, windows int }

func (f *flat) code(c *Codec) {
	c.Field(1, "rooms").Number(&f.rooms, 0, 99)
	c.Field(2, "windows").Number(&f.windows, 0, 99)
}
func (f *flat) AppendBinary(dst []byte) ([]byte, error) { return Append(dst, Version, f.code) }
func (f *flat) UnmarshalBinary(data []byte) error       { return Restore(data, Version, f, (*flat).code) }

func (h *house) code(c *Codec) {
	c.Field(1, "owner").Text(&h.owner)
	c.Field(2, "building").Fields(func() {
		List(c.Field(1, "floors"), &h.floors, func(n *int) { c.Number(n, 0, Any) })
		c.Field(2, "roof").Fields(func() { c.Field(7, "attic").Bool(&h.attic) })
	})
	c.Field(3, "flat").Part(&h.flat)
	if c.Has(40, "cellar", h.cellar != none) {
		c.Number(&h.cellar, 0, Any)
	} else {
		h.cellar = none
	}
	c.Field(41, "doors").Number(&h.doors, 0, Any)
	c.Field(100, "neighbor").Last(&h.neighbor)
}

// large has a list of more than 2^14 bytes, so that three bytes hold its length.
func large() house {
	return house{"she", make([]int, 20_000), true, flat{3, 5}, none, 2, flat{1, 1}}
}

func TestFieldsOfAllLevelsReadBack(t *testing.T) {
	for _, want := range []house{large(), {floors: []int{1, 2}, cellar: 7}} {
		data, err := Append([]byte("other"), Version, want.code)
		require.NoError(t, err)
		var got house
		require.NoError(t, Restore(data[5:], Version, &got, (*house).code))
		assert.Equal(t, want, got)
	}
}

// The number of bytes of a field is a varint, so it grows by a byte at 128 and at 16384.
func TestFieldsOfAnyLengthReadBack(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 129, 16383, 16384} {
		want := house{owner: strings.Repeat("x", n), floors: []int{}, cellar: none}
		data, err := Append(nil, Version, want.code)
		require.NoError(t, err)
		var got house
		require.NoError(t, Restore(data, Version, &got, (*house).code), n)
		assert.Equal(t, want, got)
	}
}

// whole returns a snapshot with the given body.
func whole(body ...byte) []byte { return Seal(append([]byte{Version}, body...), 0) }

// The tag of a field is twice its number, plus 1 if it has fields itself. Then come the number of bytes and the content.
func TestTheFormOfAField(t *testing.T) {
	h := house{owner: "me", floors: []int{}, cellar: 1}
	data, err := Append(nil, Version, h.code)
	require.NoError(t, err)
	assert.Equal(t, whole(2, 3, 2, 'm', 'e',
		5, 8, 2, 1, 0 /* no floors */, 5, 3, 14, 1, 0, /* attic */
		7, 6, 2, 1, 0, 4, 1, 0, /* flat */
		80, 1, 2 /* cellar */, 82, 1, 0 /* doors */, 201, 1, 6, 2, 1, 0, 4, 1, 0 /* neighbor */), data)
}

func TestFaultsNameTheirField(t *testing.T) {
	flatOf := func(body ...byte) error { return new(flat).UnmarshalBinary(whole(body...)) }
	houseOf := func(change func(data []byte) []byte) error {
		h := house{owner: "me", floors: []int{}, cellar: 1}
		data, _ := Append(nil, Version, h.code)
		data = change(data[:len(data)-checksumSize])
		return Restore(Seal(data, 0), Version, new(house), (*house).code)
	}
	replace := func(old, new string) error {
		return houseOf(func(data []byte) []byte {
			require.Contains(t, string(data), old)
			return bytes.Replace(data, []byte(old), []byte(new), 1)
		})
	}
	for want, err := range map[string]error{
		"flat: snapshot: field 1 (rooms): is missing":                                  flatOf(4, 1, 0),
		"flat: snapshot: field 2 (windows): is missing":                                flatOf(2, 1, 0, 6, 1, 0),
		"field 2 (windows): has 1 bytes too many":                                      flatOf(2, 1, 0, 4, 2, 0, 0),
		"field 1 (rooms): has 1 bytes too many":                                        flatOf(2, 2, 0, 0, 4, 1, 0),
		"field 1 (rooms): ends early":                                                  flatOf(2, 0, 4, 1, 0),
		"field 1 (rooms): holds 100 where 0 to 99":                                     flatOf(2, 2, 0xc8, 1, 4, 1, 0),
		"snapshot: holds fields out of order, or a field that is cut":                  flatOf(2, 1, 0, 2, 1, 0, 4, 1, 0),
		"holds fields out of order, or a field that is cut short":                      flatOf(2, 1, 0, 4, 1, 0, 6, 2, 0),
		"snapshot: holds fields out of order, or a field that is":                      flatOf(0, 1, 0),
		"holds fields out of order, or a field":                                        flatOf(0x82, 0, 1, 0),
		"holds fields out of":                                                          flatOf(2, 0x81, 0, 0),
		"holds fields out":                                                             flatOf(2),
		"field 2.2.7 (building.roof.attic): holds a truth value":                       replace("\x0e\x01\x00", "\x0e\x01\x02"),
		"field 2.2.7 (building.roof.attic): is missing":                                replace("\x05\x08\x02\x01\x00\x05\x03\x0e\x01\x00", "\x05\x05\x02\x01\x00\x05\x00"),
		"field 2 (building): holds values where fields are expected":                   replace("\x05\x08", "\x04\x08"),
		"field 3 (flat): holds values where fields are expected":                       replace("\x07\x06", "\x06\x06"),
		"field 2 (windows): holds fields where values are expected":                    flatOf(2, 1, 0, 5, 1, 0),
		"field 1 (owner): holds fields where values are expected":                      replace("\x02\x03\x02me", "\x03\x03\x02me"),
		"field 3 (flat): internal/snapshot: flat: snapshot: field 2 (windows): is":     replace("\x07\x06\x02\x01\x00\x04\x01\x00", "\x07\x03\x02\x01\x00"),
		"holds fields out of order, or a field that is cut":                            replace("\x05\x08\x02\x01\x00\x05\x03\x0e\x01\x00", "\x05\x0a\x02\x01\x00\x05\x05\x0e\x01\x00\x10\x05"),
		"field 41 (doors): is missing":                                                 replace("\x52\x01\x00", "\x56\x01\x00"),
		"field 100 (neighbor): internal/snapshot: flat: snapshot: field 1 (rooms): is": replace("\xc9\x01\x06\x02", "\xc9\x01\x06\x06"),
	} {
		require.Error(t, err, want)
		assert.ErrorContains(t, err, want)
	}
}

// A reader skips the fields that it does not ask for, at each level. A field that is absent stands for its value.
func TestAReaderSkipsWhatItDoesNotKnow(t *testing.T) {
	with := large()
	data, err := Append(nil, Version, func(c *Codec) {
		c.Field(1, "owner").Text(&with.owner)
		c.Field(2, "building").Fields(func() {
			List(c.Field(1, "floors"), &with.floors, func(n *int) { c.Number(n, 0, Any) })
			c.Field(2, "roof").Fields(func() {
				c.Field(3, "new").Text(&with.owner)
				c.Field(7, "attic").Bool(&with.attic)
				c.Field(8, "new").Fields(func() {})
			})
			c.Field(3000, "new").Text(&with.owner)
		})
		c.Field(3, "flat").Part(&with.flat)
		c.Field(4, "new").Fields(func() { c.Field(1, "new").Bool(&with.attic) })
		c.Field(41, "doors").Number(&with.doors, 0, Any)
		c.Field(100, "neighbor").Part(&with.neighbor)
		c.Field(101, "new").Text(&with.owner)
	})
	require.NoError(t, err)
	got := house{cellar: 9}
	require.NoError(t, RestoreTo(got, data, Version, &got, (*house).code))
	assert.Equal(t, large(), got)
}

// The last part may be in use, so it changes only if nothing else is wrong.
func TestTheLastPartChangesOnlyIfAllIsRead(t *testing.T) {
	used := flat{7, 7}
	state := func(c *Codec) {
		c.Field(1, "x").Bool(new(bool))
		c.Field(2, "last").Last(&used)
	}
	for _, body := range [][]byte{
		{2, 1, 0, 5, 6, 2, 1, 0, 4, 1, 0, 8, 9},
		{2, 1, 9, 5, 6, 2, 1, 0, 4, 1, 0},
		{2, 1, 0, 5, 3, 2, 1, 0},
	} {
		c := Codec{In: NewReader("a: B", Version, whole(body...))}
		state(&c)
		assert.Error(t, c.In.Close())
		assert.Equal(t, flat{7, 7}, used)
	}
	c := Codec{In: NewReader("a: B", Version, whole(2, 1, 0, 5, 6, 2, 1, 2, 4, 1, 4))}
	state(&c)
	require.NoError(t, c.In.Close())
	assert.Equal(t, flat{1, 2}, used)
}

// For any bytes, reading ends without a panic. What was read is written and read again as the same state.
func FuzzFields(f *testing.F) {
	for _, h := range []house{{owner: "me", floors: []int{4}, cellar: 1}, {cellar: none}} {
		data, _ := Append(nil, Version, h.code)
		f.Add(data[1 : len(data)-checksumSize])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var h, again house
		if Restore(whole(body...), Version, &h, (*house).code) != nil {
			return
		}
		data, err := Append(nil, Version, h.code)
		require.NoError(t, err)
		require.LessOrEqual(t, len(data), len(body)+1+checksumSize)
		require.NoError(t, Restore(data, Version, &again, (*house).code))
		require.Equal(t, h, again)
	})
}
