package wiretest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Same checks that a value is written as the given line and object. A type with UnmarshalText or UnmarshalJSON must
// also read them. Hosts have both forms in their files and logs, so a released form must not change.
func Same[T fmt.Stringer](t testing.TB, v T, line, object string) {
	t.Helper()
	require.Equal(t, line, v.String())
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.Equal(t, object, string(data))
	var read T
	if text, ok := any(&read).(encoding.TextUnmarshaler); ok {
		require.NoError(t, text.UnmarshalText([]byte(line)))
		require.Equal(t, line, read.String())
	}
	if object, ok := any(&read).(json.Unmarshaler); ok {
		require.NoError(t, object.UnmarshalJSON(data))
		require.Equal(t, v, read)
	}
}
