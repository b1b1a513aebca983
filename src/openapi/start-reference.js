// Runs in the browser after Swagger UI is loaded, and displays the document that the page names. "Try it out" sends requests with the key
// that the reader enters under "Authorize". Swagger UI keeps the key in memory only.
const place = document.querySelector('#reference');
globalThis.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: false,
  persistAuthorization: false,
  // Sends requests to the address of the page, because its CSP blocks other addresses, such as localhost instead of 127.0.0.1.
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.href);
    request.url = location.origin + pathname + search;
    return request;
  },
  validatorUrl: null,
});
