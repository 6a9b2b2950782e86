// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Faults looks at the pages of these places, which are files or directories of the repository, and tells each link that leads nowhere.
func Faults(repository fs.FS, places ...string) (faults []string, pages int, err error) {
	names, err := pagesOf(repository, places)
	if err != nil {
		return nil, 0, err
	}
	read := reader{repository: repository, pages: map[string]Page{}}
	for _, name := range names {
		found, err := read.faultsOf(name)
		if err != nil {
			return nil, 0, fmt.Errorf("looking at the links of %s: %w", name, err)
		}
		faults = append(faults, found...)
	}
	return faults, len(names), nil
}

func pagesOf(repository fs.FS, places []string) ([]string, error) {
	var pages []string
	for _, place := range places {
		err := fs.WalkDir(repository, place, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && isPage(name) {
				pages = append(pages, name)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("finding the pages of %s: %w", place, err)
		}
	}
	return pages, nil
}

func isPage(name string) bool { return path.Ext(name) == ".md" }

// reader reads each page once.
type reader struct {
	repository fs.FS
	pages      map[string]Page
}

func (r reader) page(name string) (Page, error) {
	if page, ok := r.pages[name]; ok {
		return page, nil
	}
	source, err := fs.ReadFile(r.repository, name)
	if err != nil {
		return Page{}, err
	}
	r.pages[name] = Read(source)
	return r.pages[name], nil
}

func (r reader) faultsOf(name string) ([]string, error) {
	page, err := r.page(name)
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, html := range page.HTML {
		faults = append(faults, fmt.Sprintf("%s %s: is HTML, whose links are not looked at: write it in Markdown", name, html))
	}
	for _, link := range page.Links {
		fault, err := r.faultOf(name, link.Destination)
		if err != nil {
			return nil, err
		}
		if fault != "" {
			faults = append(faults, fmt.Sprintf("%s line %d: %q: %s", name, link.Line, link.Destination, fault))
		}
	}
	return faults, nil
}

// faultOf returns the fault of a link, or nothing if the link leaves the repository on purpose.
func (r reader) faultOf(name, destination string) (string, error) {
	target, err := url.Parse(destination)
	if err != nil {
		return err.Error(), nil
	}
	if target.Scheme != "" || target.Host != "" {
		return "", nil
	}
	if path.IsAbs(target.Path) {
		return "is not relative, which only some viewers can follow", nil
	}
	file := name
	if target.Path != "" {
		file = path.Join(path.Dir(name), target.Path)
	}
	if !fs.ValidPath(file) {
		return "leads out of the repository", nil
	}
	switch _, err := fs.Stat(r.repository, file); {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file", nil
	case err != nil:
		return "", err
	case target.Fragment == "":
		return "", nil
	case !isPage(file):
		return "only pages have headings, and lines move", nil
	}
	page, err := r.page(file)
	if err != nil || slices.Contains(page.Anchors, target.Fragment) {
		return "", err
	}
	return "there is no such heading, but " + strings.Join(page.Anchors, ", "), nil
}
