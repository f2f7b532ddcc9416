package rules_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Every policy that has a name reads back from its JSON, with keys in small letters. An unknown key is an
// error.
func TestPoliciesReadBackFromJSON(t *testing.T) {
	for _, name := range rules.Names() {
		zero, err := rules.Parse(name)
		require.NoError(t, err)
		v := reflect.New(reflect.TypeOf(zero))
		for i := range v.Elem().NumField() {
			setOne(v.Elem().Field(i))
		}
		data, err := json.Marshal(v.Elem().Interface())
		require.NoError(t, err)
		back := reflect.New(reflect.TypeOf(zero))
		require.NoError(t, json.Unmarshal(data, back.Interface()), "%s", data)
		assert.Equal(t, v.Elem().Interface(), back.Elem().Interface())
		if v.Elem().NumField() > 0 {
			assert.NotRegexp(t, `"[a-z-]*[A-Z]`, string(data))
			assert.ErrorContains(t, json.Unmarshal([]byte(`{"colour":7}`), back.Interface()), `colour is "7"`)
		}
	}
	data, err := json.Marshal(rules.LATE{MinAge: 90 * time.Second, SlowNode: restart.Off, Early: true})
	require.NoError(t, err)
	assert.Equal(t, `{"slow-node":-1,"min-age":90,"early":true}`, string(data))
}
