package straggler_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page of a package may show code with the line that the code prints. An example of the package prints this line.
func TestTheLinesOfPackagePagesArePrintedByExamples(t *testing.T) {
	shown, count := regexp.MustCompile(`(?m)^//\t+// (?:.*d is: )?([a-z]+ [a-z-]+ [a-z-]+=.*|\[.*)$`), 0
	for name := range libraryFiles(t) {
		dir := path.Dir(name)
		if strings.Contains(dir, "internal") {
			continue
		}
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, line := range shown.FindAllStringSubmatch(string(source), -1) {
			count++
			assert.True(t, examplePrints(t, dir, line[1]), "%s shows a line that no example of the package prints:\n%s", name, line[1])
		}
	}
	assert.Greater(t, count, 8)
}

// examplePrints reports whether the output of an example of a package has a line that ends as this line.
func examplePrints(t *testing.T, dir, line string) bool {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range tests {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		_, outputs, _ := strings.Cut(string(source), "\t// Output:")
		if strings.Contains(outputs+"\n", line+"\n") {
			return true
		}
	}
	return false
}
