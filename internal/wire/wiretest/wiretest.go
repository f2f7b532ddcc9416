// Package wiretest helps to test types that package wire prints and reads.
package wiretest

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/wire"
)

// Through checks that a value reads back from JSON and from gob as an equal value. Its line must read back as a
// value with an equal line. An unknown field must be refused by name. Through returns the value read from JSON.
func Through[T any, P interface {
	*T
	wire.Wired
	encoding.TextUnmarshaler
}](t testing.TB, v T) (back T) {
	t.Helper()
	data, err := json.Marshal(P(&v))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &back), "%s", data)
	require.Equal(t, v, back, "%s", data)

	var binary bytes.Buffer
	var decoded T
	require.NoError(t, gob.NewEncoder(&binary).Encode(&v))
	require.NoError(t, gob.NewDecoder(&binary).Decode(&decoded))
	require.Equal(t, v, decoded)

	var read T
	line := P(&v).String()
	require.NoError(t, P(&read).UnmarshalText([]byte(line)), "%s", line)
	require.Equal(t, line, P(&read).String())

	more := strings.Replace(string(data), "{", `{"colour":7,`, 1)
	if string(data) == "{}" {
		more = `{"colour":7}`
	}
	require.ErrorContains(t, json.Unmarshal([]byte(more), &read), `colour is "7"`)
	require.ErrorContains(t, P(&read).UnmarshalText([]byte(line+" colour=7")), `colour is "7"`)
	require.Equal(t, line, P(&read).String(), "a refused text leaves the value unchanged")
	return back
}

// Settings checks that a configuration is written as the given object and reads back as an equal value. An unknown
// field must be refused by name.
func Settings[T any](t testing.TB, v T, object string) {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.Equal(t, object, string(data))
	var back T
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, v, back)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"colour":7}`), &back), `colour is "7"`)
	require.Equal(t, v, back, "a refused text leaves the value unchanged")
}
