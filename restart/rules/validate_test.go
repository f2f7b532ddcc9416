package rules_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// In each policy, each field alone is refused below Off and if it is NaN. The error names the field.
func TestValidateChecksEachField(t *testing.T) {
	for _, name := range rules.Names() {
		zero, err := rules.Parse(name)
		require.NoError(t, err)
		require.NoError(t, restart.Validate(zero))
		for i := range reflect.TypeOf(zero).NumField() {
			v := reflect.New(reflect.TypeOf(zero)).Elem()
			var values []any
			switch v.Field(i).Interface().(type) {
			case float64:
				values = []any{math.NaN(), -2., math.Inf(1)}
			case int:
				values = []any{-2}
			case time.Duration:
				values = []any{time.Duration(-2)}
			}
			for _, value := range values {
				v.Field(i).Set(reflect.ValueOf(value))
				var bad *straggler.FieldError
				if assert.ErrorAs(t, restart.Validate(v.Interface().(restart.Policy)), &bad, "%#v", v) {
					assert.Equal(t, v.Type().Name()+"."+v.Type().Field(i).Name, bad.Field)
					assert.Equal(t, value == value, bad.Value == value)
				}
			}
		}
	}
}

func TestParseNamesTheFieldAndTheRange(t *testing.T) {
	for text, want := range map[string]straggler.FieldError{
		"mantra":             {Package: "restart/rules", Field: "policy", Value: "mantra"},
		"mantri,idle-gain=x": {Package: "restart/rules", Field: "policy mantri: idle-gain", Value: "x", Want: "a number, or off"},
		"late,min-age=-5s":   {Package: "restart/rules", Field: "LATE.MinAge", Value: -5 * time.Second},
	} {
		_, err := rules.Parse(text)
		var bad *straggler.FieldError
		if assert.ErrorAs(t, err, &bad, text) {
			if want.Want == "" {
				want.Want = bad.Want
			}
			assert.Equal(t, want, *bad)
		}
	}
}
