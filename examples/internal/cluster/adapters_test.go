package cluster

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each package's page names the file that shows how a host calls it, and that file does call it.
func TestEachPackageNamesItsAdapter(t *testing.T) {
	for pkg, name := range map[string]string{
		"placement": "placement", "replicate": "replicate", "clone": "clone", "delay": "delay", "fairshare": "fairshare",
		"laxity": "laxity", "skew": "skew", "estimate": "estimate", "restart": "restart",
		"delay/assign": "assign", "laxity/outlier": "overload", "fairshare/gate": "fairshare", "estimate/knn": "estimate",
	} {
		page, err := os.ReadFile("../../../" + pkg + "/doc.go")
		require.NoError(t, err)
		assert.Contains(t, string(page), "examples/internal/cluster/"+name+".go")
		file, err := parser.ParseFile(token.NewFileSet(), name+".go", nil, parser.ImportsOnly)
		require.NoError(t, err)
		calls := false
		for _, i := range file.Imports {
			path := strings.Trim(i.Path.Value, `"`) + "/"
			calls = calls || strings.HasPrefix(path, "github.com/straggler-go/straggler/"+pkg+"/")
		}
		assert.True(t, calls, "%s.go calls package %s or what is below it", name, pkg)
	}
}
