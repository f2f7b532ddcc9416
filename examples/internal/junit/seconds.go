package junit

import (
	"regexp"
	"strconv"
	"strings"
)

// grouped is a number whose commas stand between groups of three digits, as in 1,234.5; and decimal is one whose only comma
// stands before its decimals, as in 0,107 or 1234,5.
var (
	grouped = regexp.MustCompile(`^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$`)
	decimal = regexp.MustCompile(`^\d+,\d+$`)
)

// Seconds returns the time of a report, which some tools write as their users' language has it: 1,234.5 and 0,107. A comma
// between groups of three digits is none of the decimals; 1,234 is more than a thousand.
func Seconds(text string) (float64, error) {
	switch {
	case grouped.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	case decimal.MatchString(text):
		text = strings.Replace(text, ",", ".", 1)
	}
	return strconv.ParseFloat(text, 64)
}
