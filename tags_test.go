package straggler_test

import (
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The tags of configurations say what package check understands: a known range for the type of the field, and a default that
// can be read.
func TestTagsOfConfigurationsCanBeRead(t *testing.T) {
	wants := map[string]*regexp.Regexp{
		"float64":       regexp.MustCompile(`^((share|factor|probability)( or off)?|[\d.e]+ to [\d.e]+)$`),
		"int":           regexp.MustCompile(`^(count( or off)?|\d+(e\d+)? to \d+(e\d+)?)$`),
		"time.Duration": regexp.MustCompile(`^(length|age)$`),
	}
	ranges, defaults := 0, 0
	files := libraryFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		ast.Inspect(files[name], func(n ast.Node) bool {
			field, is := n.(*ast.Field)
			if !is || field.Tag == nil {
				return true
			}
			text, err := strconv.Unquote(field.Tag.Value)
			assert.NoError(t, err)
			tag, kind := reflect.StructTag(text), types.ExprString(field.Type)
			if want, is := tag.Lookup("want"); is {
				ranges++
				if assert.Contains(t, wants, kind, name) {
					assert.Regexp(t, wants[kind], want, "%s: %v", name, field.Names)
				}
			}
			if text, is := tag.Lookup("default"); is {
				defaults++
				switch kind {
				case "time.Duration":
					_, err = time.ParseDuration(text)
				case "int":
					_, err = strconv.Atoi(text)
				default:
					assert.Equal(t, "float64", kind, name)
					_, err = strconv.ParseFloat(text, 64)
				}
				assert.NoError(t, err, "%s: %v", name, field.Names)
			}
			return true
		})
	}
	assert.Greater(t, ranges, 50)
	assert.Greater(t, defaults, 20)
}
