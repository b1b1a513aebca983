import { type Html, html } from '../web/html.ts';

/** Ways around the example for whoever tries it. A page for the public does not have this. */
export function demoBar(): Html {
  return html`<nav class="demo" aria-label="This example">
<strong>Example</strong>
<ul>
<li><a href="/?variant=a">Variant A</a></li>
<li><a href="/?variant=b">Variant B</a></li>
<li><a href="/offers?embed=iframe">Offers in a frame</a></li>
<li><a href="/offers?embed=js">by script</a></li>
<li><a href="/offers?embed=json">as cards</a></li>
<li><a href="/results">Results</a></li>
</ul>
</nav>`;
}
