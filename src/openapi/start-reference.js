// Runs in the browser, after the renderer: shows the document that the page names. Nothing can be tried out from here, since an
// API key has no place in a browser.
const place = document.querySelector('#reference');
globalThis.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: false,
  supportedSubmitMethods: [],
  validatorUrl: null,
});
