// Package wiretest helps to test what package wire prints and reads.
package wiretest

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/wire"
)

// Through demands that a value reads back from JSON and from gob as the same value, and from its line as one that
// prints the same, and that a field that it has not is refused by name. It returns what JSON gave.
func Through[T any, P interface {
	*T
	wire.Wired
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
	require.Equal(t, line, P(&read).String(), "what is refused leaves the value as it was")
	return back
}

// Settings demands that choices are the given object, read back as they were, and refuse by name a field that they have
// not.
func Settings[T any](t testing.TB, v T, object string) {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.Equal(t, object, string(data))
	var back T
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, v, back)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"colour":7}`), &back), `colour is "7"`)
	require.Equal(t, v, back, "what is refused leaves the value as it was")
}
