// Runs in the browser after Swagger UI is loaded, and displays the document that the page names. "Try it out" is disabled, because an
// API key must not be entered in a browser.
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
