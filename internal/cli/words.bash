    local i c quote='' word='' line=${COMP_LINE:0:COMP_POINT}
    words=()
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ -z $quote && $c == [[:space:]] ]]; then
            [[ -n $word ]] && words+=("$word")
            word=
            continue
        fi
        if [[ $c == "$quote" ]]; then
            quote=
        elif [[ -z $quote && $c == [\'\"] ]]; then
            quote=$c
        fi
        word+=$c
    done
    words+=("$word$quote")
    cword=$((${#words[@]} - 1))
    prev=${words[cword - 1]}
    cur=${word#"$quote"}
