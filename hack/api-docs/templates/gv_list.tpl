{{- define "gvList" -}}
<!-- Written by make generate from the types in api/v1. Edit their comments, not this. -->

# API reference
{{ range . }}
{{ template "gvDetails" . }}
{{- end }}
{{- end -}}
