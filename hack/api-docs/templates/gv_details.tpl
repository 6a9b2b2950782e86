{{- define "gvDetails" -}}
{{- $gv := . -}}
The [specification](../../spec/v1/README.md) describes the fields with examples. This page lists all of them.

Kinds of `{{ $gv.GroupVersionString }}`:
{{ range $gv.SortedKinds }}
- {{ $gv.TypeForKind . | markdownRenderTypeLink }}
{{- end }}
{{ range $gv.SortedTypes }}
{{- template "type" . }}
{{- end }}
{{- end -}}
