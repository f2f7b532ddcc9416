// Package wiretest helps to test types that package wire writes and reads.
package wiretest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Same checks that a value is written as the given line and object. A type with UnmarshalJSON must also read the
// object. Hosts have both forms in their files and logs, so a released form must not change.
func Same[T fmt.Stringer](t testing.TB, v T, line, object string) {
	t.Helper()
	require.Equal(t, line, v.String())
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.Equal(t, object, string(data))
	var read T
	if reader, ok := any(&read).(json.Unmarshaler); ok {
		require.NoError(t, reader.UnmarshalJSON(data))
		require.Equal(t, v, read)
	}
}

// Settings checks that a configuration is written as the given JSON object, and that reading this object gives an
// equal value. An object with an unknown field must be refused by an error that names the field.
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
