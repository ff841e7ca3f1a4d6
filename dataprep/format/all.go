package format

// All returns the formats in the order they are tried: those with a signature
// of their own first, plain text, which nearly everything could be, last.
func All() []Format {
	return []Format{
		pdfFormat(),
		parquetFormat(),
		arrowFormat(),
		docFormat(),
		docxFormat(),
		xlsFormat(),
		xlsxFormat(),
		epubFormat(),
		odtFormat(),
		htmlFormat(),
		jsonlFormat(),
		jsonFormat(),
		csvFormat(),
		markdownFormat(),
		textFormat(),
	}
}
