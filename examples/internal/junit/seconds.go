package junit

import (
	"regexp"
	"strconv"
	"strings"
)

// grouped matches a number with commas between groups of three digits, such as 1,234.5. decimal matches a number with
// a comma before its decimals, such as 0,107 or 1234,5.
var (
	grouped = regexp.MustCompile(`^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$`)
	decimal = regexp.MustCompile(`^\d+,\d+$`)
)

// Seconds parses the time in a report. Some tools write numbers in the language of their users: 1,234.5 or 0,107. A
// comma between groups of three digits is not a decimal comma: 1,234 is more than a thousand.
func Seconds(text string) (float64, error) {
	switch {
	case grouped.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	case decimal.MatchString(text):
		text = strings.Replace(text, ",", ".", 1)
	}
	return strconv.ParseFloat(text, 64)
}
