// Command proxy makes of a checkout a module proxy in the file system, as GOPROXY=file://... reads it: every module that
// is to be imported or installed, at one version. What lies below examples in modules of their own is neither.
//
//	proxy CHECKOUT VERSION DIRECTORY
//
// It prints the paths of the modules and, after a tab, their directories in the checkout.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const library = "github.com/straggler-go/straggler"

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: proxy CHECKOUT VERSION DIRECTORY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

func run(checkout, version, to string) error {
	return filepath.WalkDir(checkout, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != checkout && (strings.HasPrefix(e.Name(), ".") || demonstration(name)):
			return filepath.SkipDir
		case e.Name() != "go.mod":
			return nil
		}
		return publish(filepath.Dir(name), version, to)
	})
}

// demonstration says that a directory is one of the modules below examples.
func demonstration(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && filepath.Base(filepath.Dir(dir)) == "examples"
}

// publish writes the four files by which a proxy knows a version of a module.
func publish(dir, version, to string) error {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	path := modfile.ModulePath(text)
	if path != library && !strings.HasPrefix(path, library+"/") {
		return fmt.Errorf("%s: module %q is not below %s", dir, path, library)
	}
	escaped, err := module.EscapePath(path)
	if err != nil {
		return err
	}
	place := filepath.Join(to, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(place, 0o755); err != nil {
		return err
	}
	info := fmt.Sprintf("{\"Version\":%q,\"Time\":%q}\n", version, time.Now().UTC().Format(time.RFC3339))
	for file, content := range map[string]string{"list": version + "\n", version + ".info": info, version + ".mod": string(text)} {
		if err := os.WriteFile(filepath.Join(place, file), []byte(content), 0o644); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(place, version+".zip"))
	if err != nil {
		return err
	}
	defer archive.Close()
	if err := zip.CreateFromDir(archive, module.Version{Path: path, Version: version}, dir); err != nil {
		return err
	}
	fmt.Printf("%s\t%s\n", path, dir)
	return archive.Close()
}
