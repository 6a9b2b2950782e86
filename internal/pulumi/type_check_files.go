// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
)

// loads matches what loads a file while a program runs: a require that is no method, such as that of the
// configuration, and an import that is called.
var loads = regexp.MustCompile(`(?:^|[^.\w$])require(?:$|[^\w$])|\bmodule\s*\.\s*require\b|mainModule|createRequire|\bimport\s*\(`)

// maxSourceText bounds the source that is searched.
const maxSourceText = 4 << 20

// loadsTheSameFiles reports whether a program in TypeScript loads the same files for each of its stacks, because all
// of them are named by import declarations. In doubt, it does not.
func loadsTheSameFiles(root *os.Root) bool {
	left := int64(maxSourceText)
	err := fs.WalkDir(root.FS(), ".", func(name string, found fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case found.IsDir() && (found.Name() == "node_modules" || found.Name() == ".git"):
			return fs.SkipDir
		case !isCode(name) || found.IsDir():
			return nil
		case !found.Type().IsRegular():
			return errLoads // a link, in doubt
		}
		text, err := readWithin(root, name, int(left))
		if err != nil {
			return err
		}
		if left -= int64(len(text)); loads.Match(text) {
			return errLoads
		}
		return nil
	})
	return err == nil
}

var errLoads = errors.New("the program loads files while it runs")

func isCode(name string) bool {
	return slices.Contains([]string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}, path.Ext(name))
}
