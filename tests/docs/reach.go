// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"net/url"
	"path"
	"slices"
)

// Unreached lists the pages of these places that no links lead to from the first page, however many. A README is not among them: who looks
// at its directory sees it.
func Unreached(repository fs.FS, first string, places ...string) ([]string, error) {
	read := reader{repository: repository, pages: map[string]Page{}}
	reached := []string{first}
	for next := 0; next < len(reached); next++ {
		page, err := read.page(reached[next])
		if err != nil {
			return nil, err
		}
		for _, link := range page.Links {
			target, err := url.Parse(link.Destination)
			if err != nil || target.Scheme != "" || target.Host != "" || !isPage(target.Path) {
				continue
			}
			if file := path.Join(path.Dir(reached[next]), target.Path); !slices.Contains(reached, file) {
				reached = append(reached, file)
			}
		}
	}
	names, err := pagesOf(repository, places)
	return slices.DeleteFunc(names, func(name string) bool {
		return path.Base(name) == "README.md" || slices.Contains(reached, name)
	}), err
}
