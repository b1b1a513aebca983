/** Type of a CSS import. The build replaces the import with the minified text of the style sheet. */
declare module '*.css' {
  const text: string;
  export default text;
}
