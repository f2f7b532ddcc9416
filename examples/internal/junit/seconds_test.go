package junit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSeconds(t *testing.T) {
	for text, want := range map[string]float64{
		"0.107": 0.107, "0,107": 0.107, "0,5": 0.5, "12,34": 12.34, "1234,5": 1234.5, "1,234": 1234, "1,234.5": 1234.5,
		"12,345,678.9": 12345678.9, "0,1": 0.1, "00,107": 0.107, "1e-3": 0.001, "1,2345": 1.2345,
	} {
		got, err := Seconds(text)
		assert.NoError(t, err, text)
		assert.InDelta(t, want, got, 1e-12, text)
	}
	for _, text := range []string{"", "1,2,3", "1.234,5", ",5", "5,", "1,234,5"} {
		_, err := Seconds(text)
		assert.Error(t, err, text)
	}
}
