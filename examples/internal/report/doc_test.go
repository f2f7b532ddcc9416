package report

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/replay.md has the name of every field of the JSON.
func TestModelIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/replay.md")
	require.NoError(t, err)
	text := strings.ReplaceAll(string(page), "`_p", "`time_reduction_p")
	text = strings.ReplaceAll(text, "`_", "`time_reduction_")
	assert.Contains(t, text, Schema)
	for name := range jsonNames(reflect.TypeFor[Report](), map[string]bool{}, map[reflect.Type]bool{}) {
		assert.True(t, strings.Contains(text, "`"+name+"`") || strings.Contains(text, "`"+name+"[]`") ||
			strings.Contains(text, `"`+name+`"`), "docs/replay.md does not name %s", name)
	}
}

func jsonNames(of reflect.Type, names map[string]bool, seen map[reflect.Type]bool) map[string]bool {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || seen[of] {
		return names
	}
	seen[of] = true
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names[name] = true
		jsonNames(of.Field(i).Type, names, seen)
	}
	return names
}
