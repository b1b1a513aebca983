/** Type of a CSS import. The build replaces each CSS import with the minified text of the style sheet. */
declare module '*.css' {
  const text: string;
  export default text;
}
