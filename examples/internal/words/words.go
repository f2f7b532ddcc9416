// Package words puts numbers into sentences.
package words

import "fmt"

// Plural returns one if n is 1, and more otherwise.
func Plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Counted writes a number with a noun, such as "1 task" or "2 tasks".
func Counted(n int, what string) string { return fmt.Sprintf("%d %s%s", n, what, Plural(n, "", "s")) }
